import jakarta.servlet.ServletException;
import java.io.IOException;
import java.util.List;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.realm.GenericPrincipal;
import org.apache.catalina.valves.ValveBase;

/**
 * Sets the user and roles from the gateway's headers, for getRemoteUser(), isUserInRole() and the constraints in
 * web.xml.
 */
public class RemoteUserValve extends ValveBase {
    public RemoteUserValve() {
        super(true);
    }

    @Override
    public void invoke(Request request, Response response) throws IOException, ServletException {
        String user = request.getHeader("Remote-User");
        if (user != null && !user.isEmpty()) {
            String groups = request.getHeader("Remote-Groups");
            List<String> roles = groups == null || groups.isEmpty() ? List.of() : List.of(groups.split(","));
            request.setUserPrincipal(new GenericPrincipal(user, roles));
            request.setAuthType("APPLE");
        }
        getNext().invoke(request, response);
    }
}
